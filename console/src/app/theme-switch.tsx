import { Monitor, Moon, Sun } from 'lucide-react';
import { useStore } from '../api/store.ts';
import { setTheme, type Theme, theme } from './theme.ts';

const THEMES = [
  { value: 'system', label: 'Like the system', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
] as const satisfies readonly { value: Theme; label: string; icon: unknown }[];

export function ThemeSwitch() {
  const now = useStore(theme);
  return (
    <fieldset className="segments">
      <legend className="unseen">Colours</legend>
      {THEMES.map(({ value, label, icon: Icon }) => (
        <label key={value} title={label}>
          <input type="radio" name="theme" checked={now === value} onChange={() => setTheme(value)} />
          <Icon aria-hidden size={14} />
          <span className="unseen">{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
