import { endWithFile } from "@ui/test-leftovers";
import { expect, it, vi } from "vitest";

it("timers, listeners and channels end with the file of tests that has started them", async () => {
  const late = vi.fn();
  let end: () => void = () => undefined;
  endWithFile((stop) => {
    end = stop;
  });
  setTimeout(late, 1);
  setInterval(late, 1);
  requestAnimationFrame(late);
  window.addEventListener("storage", late);
  document.addEventListener("keydown", late);
  const channel = new BroadcastChannel("tabs");
  channel.onmessage = late;
  new BroadcastChannel("tabs").postMessage("for the tabs of this file");
  end();

  const other = new BroadcastChannel("tabs");
  other.postMessage("of another file");
  window.dispatchEvent(new Event("storage"));
  document.dispatchEvent(new Event("keydown"));
  await new Promise((done) => setTimeout(done, 50));
  expect(late).not.toHaveBeenCalled();
  other.close();
});

it("what tests start is heard as long as their file runs, and by no other thread", async () => {
  const heard = vi.fn();
  const channel = new BroadcastChannel("tabs");
  channel.onmessage = heard;
  new BroadcastChannel("tabs").postMessage("of this file");

  await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(1));
  expect(channel.name).not.toBe("tabs");
});
