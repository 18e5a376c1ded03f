// Functions that wait for a condition.

import { connect } from "node:net";

/** Time limit of a wait, far above what anything takes on a busy machine. */
const timeoutMs = 120_000;

/** Waits until a condition is true; throws after two minutes. */
export async function until(isTrue: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) {
      throw new Error(`Not within ${timeoutMs / 1_000} s: ${what}`);
    }
    await pause(100);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ms));
}

/** Whether a program accepts connections. */
export function isListening(address: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: address, port, timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      done(answer);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}
