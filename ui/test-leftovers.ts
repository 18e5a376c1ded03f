/**
 * Files of unit tests share a window, and each loads our modules anew. What the modules of a file have started ends with the file:
 * listeners, timers and channels to other tabs. Otherwise they would answer and ask in the tests of a later file, or of another thread.
 */

const timers = [
  ["setTimeout", "clearTimeout"],
  ["setInterval", "clearInterval"],
  ["requestAnimationFrame", "cancelAnimationFrame"],
] as const;

/** React and user-event note at a document that they listen to it, and never begin again. None of the two listens to these. */
const ownDocumentEvents = ["keydown", "keyup", "paste", "copy", "cut", "visibilitychange"];

type Undo = () => void;

/** Ends with a file of tests what it has started. `afterAll` is the test runner's. */
export function endWithFile(afterAll: (end: () => void) => void): void {
  const undo: Undo[] = [endChannels(), ...timers.map(([start, stop]) => endTimers(start, stop))];
  if (typeof document !== "undefined") {
    undo.push(endListeners(window, () => true));
    undo.push(endListeners(document, (type) => ownDocumentEvents.includes(type)));
  }
  afterAll(() => {
    for (const one of undo) one();
  });
}

function endTimers(start: (typeof timers)[number][0], stop: (typeof timers)[number][1]): Undo {
  const original: unknown = globalThis[start];
  if (typeof original !== "function") return () => undefined;
  const started = new Set<unknown>();
  const counted = new Proxy(original, {
    apply(target, self, given) {
      const id: unknown = Reflect.apply(target, self, given);
      started.add(id);
      return id;
    },
  });
  Object.assign(globalThis, { [start]: counted });
  return () => {
    Object.assign(globalThis, { [start]: original });
    for (const id of started) (globalThis[stop] as (id: unknown) => void)(id);
    started.clear();
  };
}

function endListeners(target: Window | Document, isOurs: (type: string) => boolean): Undo {
  const listen = target.addEventListener;
  const added: Parameters<typeof listen>[] = [];
  target.addEventListener = (...listener: Parameters<typeof listen>) => {
    if (isOurs(listener[0])) added.push(listener);
    listen.apply(target, listener);
  };
  return () => {
    target.addEventListener = listen;
    for (const [type, listener, options] of added) {
      target.removeEventListener(type, listener, options);
    }
  };
}

/** Node's channels reach all threads, and so the tests that run at the same time. */
function endChannels(): Undo {
  const Original = globalThis.BroadcastChannel;
  const file = crypto.randomUUID();
  const opened: BroadcastChannel[] = [];
  globalThis.BroadcastChannel = class extends Original {
    constructor(name: string) {
      super(`${file}:${name}`);
      opened.push(this);
    }
  };
  return () => {
    globalThis.BroadcastChannel = Original;
    for (const channel of opened) channel.close();
  };
}
