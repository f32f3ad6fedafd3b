// Loaded before the command line: `new Date()` is the moment of FIXED_CLOCK.
const clock = process.env.FIXED_CLOCK;

if (clock !== undefined)
  globalThis.Date = new Proxy(Date, {
    construct: (target, given, itself) =>
      Reflect.construct(target, given.length === 0 ? [clock] : given, itself),
  });
