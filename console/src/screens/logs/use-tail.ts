import { useCallback, useEffect, useRef, useState } from "react";
import { readLines } from "@/api/client";
import { type LogFilter, logQuery } from "./log-filter";
import { addToTail, emptyTail, isTailEntry, type Tail, type TailLine } from "./tail";

export interface LiveTail extends Tail {
  isConnected: boolean;
  isHeld: boolean;
  hold: (isHeld: boolean) => void;
}

/** Pause before a broken tail is opened again. */
const reopenAfterMs = 1000;

/** Pause between two renders: nobody reads a list that changes more often, and each render takes time from the page's other work. */
const renderEveryMs = 100;

/** Follows the log while `isOn`. Lines that arrive between two renders are added together. */
export function useTail(filter: LogFilter, isOn: boolean): LiveTail {
  const [tail, setTail] = useState(emptyTail);
  const [isConnected, setConnected] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const held = useRef(isHeld);
  const query = logQuery(filter).toString();

  useEffect(() => {
    if (!isOn) return undefined;
    const stop = new AbortController();
    let arrived: TailLine[] = [];
    // A timer and not an animation frame, of which a hidden page gets none, so that its lines would pile up.
    let timer: number | undefined;
    setTail(emptyTail);
    function addArrived(): void {
      timer = undefined;
      const lines = arrived;
      arrived = [];
      setTail((current) => addToTail(current, lines, held.current));
    }
    async function follow(): Promise<void> {
      while (!stop.signal.aborted) {
        try {
          setConnected(true);
          for await (const line of readLines<unknown>(`/api/logs/tail?${query}`, {
            signal: stop.signal,
          })) {
            if (!isTailEntry(line)) continue;
            arrived.push(line);
            timer ??= window.setTimeout(addArrived, renderEveryMs);
          }
        } catch {
          // The server cannot be reached, which is tried again below, or the page was left, which aborts the request.
        }
        if (stop.signal.aborted) return;
        setConnected(false);
        await new Promise((resolve) => window.setTimeout(resolve, reopenAfterMs));
      }
    }
    void follow();
    return () => {
      stop.abort();
      window.clearTimeout(timer);
      setConnected(false);
    };
  }, [isOn, query]);

  const hold = useCallback((isNow: boolean) => {
    held.current = isNow;
    setHeld(isNow);
    if (!isNow) setTail((current) => addToTail(current, [], false));
  }, []);
  return { ...tail, isConnected, isHeld, hold };
}
