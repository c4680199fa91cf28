import { store } from '../api/store.ts';

const KEY = 'pawl.tour';

/** The example that somebody was led here from; its page says what to press until they are done with it. */
export const tour = store<'none' | 'orders'>(localStorage.getItem(KEY) === 'orders' ? 'orders' : 'none');

/** The link of the example says so in its address, once. */
export function beginTour(): void {
  const url = new URL(window.location.href);
  if (url.searchParams.get('tour') !== 'orders') return;
  url.searchParams.delete('tour');
  window.history.replaceState(null, '', url);
  localStorage.setItem(KEY, 'orders');
  tour.set('orders');
}

export function endTour(): void {
  localStorage.removeItem(KEY);
  tour.set('none');
}
