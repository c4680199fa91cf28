type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

/** Compiles only when both types are exactly the same. */
export function same<A, B>(_isSame: Equal<A, B>): void {
  // Only the types matter.
}

export interface Order {
  id: string;
  total: number;
}
