import type { World } from '../world.js';

/** Something computed from a world once, when it is first asked for; a world at another clock is another world. */
export function perWorld<T>(make: (world: World) => T): (world: World) => T {
  const made = new WeakMap<World, T>();
  return (world) => {
    const known = made.get(world);
    if (known !== undefined) return known;
    const value = make(world);
    made.set(world, value);
    return value;
  };
}
