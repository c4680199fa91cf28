/** A ratchet wheel with its pawl. */
export function Logo({ size }: { readonly size: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 24 24" fill="none" className="logo">
      <path
        d="M12 4.5l2.2 2.6 3.3-.6.1 3.4 2.9 1.8-1.9 2.8 1 3.2-3.3.7-1.3 3.1-3-1.4-3 1.4-1.3-3.1-3.3-.7 1-3.2-1.9-2.8 2.9-1.8.1-3.4 3.3.6z"
        fill="currentColor"
        opacity="0.9"
      />
      <circle cx="12" cy="13" r="3" className="logo-hole" />
      <path d="M21 2.5l-6.2 3.2" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />
    </svg>
  );
}
