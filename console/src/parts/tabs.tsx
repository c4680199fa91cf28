import { useEffect, useRef } from 'react';
import { Link } from '../app/router.tsx';

interface TabsProps {
  readonly label: string;
  readonly here: string;
  readonly tabs: readonly { readonly key: string; readonly label: string; readonly address: string }[];
}

/** The parts of a page, each with its own address. The one that is shown is in sight, also where they do not all fit. */
export function Tabs({ label, here, tabs }: TabsProps) {
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another part is another place
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && tab) nav.current.scrollLeft = tab.offsetLeft - (nav.current.clientWidth - tab.offsetWidth) / 2;
  }, [here]);
  return (
    <nav ref={nav} className="tabs" aria-label={label}>
      {tabs.map(({ key, label: name, address }) => (
        <Link key={key} to={address} aria-current={key === here ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
