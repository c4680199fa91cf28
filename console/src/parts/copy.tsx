import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';

const SHOWN_MS = 1_500;

export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const Icon = isCopied ? Check : CopyIcon;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={isCopied ? 'Copied' : label}
      title={label}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Icon aria-hidden size={14} />
    </button>
  );
}
