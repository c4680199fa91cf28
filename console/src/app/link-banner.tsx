import { CloudOff, PlugZap } from 'lucide-react';
import { useEffect, useState } from 'react';
import { link } from '../api/live.ts';
import { useStore } from '../api/store.ts';
import { Ago } from '../parts/time.tsx';

const BACK_SHOWN_MS = 4_000;

/** The engine is gone, or is back: said in words, over whatever is shown. */
export function LinkBanner() {
  const now = useStore(link);
  const [isBack, setBack] = useState(false);
  const isGone = now.state === 'gone';
  useEffect(() => {
    if (!isGone) return undefined;
    return () => setBack(true);
  }, [isGone]);
  useEffect(() => {
    if (!isBack) return undefined;
    const timer = setTimeout(() => setBack(false), BACK_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isBack]);
  return (
    <div role="status" className="banners">
      {isGone && (
        <div className="banner" data-tone="bad">
          <CloudOff aria-hidden size={16} />
          <span>
            <strong>The engine does not answer.</strong> What you see is from <Ago at={now.since} className="" />.
            Nothing accepted is lost; this page comes back by itself.
          </span>
        </div>
      )}
      {!isGone && isBack && (
        <div className="banner" data-tone="good">
          <PlugZap aria-hidden size={16} />
          <span>
            <strong>The engine is back.</strong> Everything here was read again.
          </span>
        </div>
      )}
    </div>
  );
}
