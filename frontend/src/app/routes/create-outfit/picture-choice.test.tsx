import { act, render } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { Composition } from "./picture-choice";

/** Ends the drawing of these pictures; a test decides which of two ends first. */
const endings = vi.hoisted(() => new Map<string, () => void>());
vi.mock("@/features/submissions/api/compose-picture", () => ({
  drawComposition: (canvas: HTMLCanvasElement, urls: string[]) =>
    new Promise<void>((done) => {
      endings.set(urls.join(), () => {
        // The width tells whose drawing it is.
        canvas.width = urls.length;
        done();
      });
    }),
}));

it("shows the sheet of the present items, also when an earlier one is drawn later", async () => {
  const { container, rerender } = render(<Composition urls={["/a", "/b", "/c"]} />);
  const shown = container.querySelector("canvas");
  await vi.waitFor(() => expect(endings.size).toBe(1));
  rerender(<Composition urls={["/a", "/b"]} />);
  await vi.waitFor(() => expect(endings.size).toBe(2));

  await act(async () => endings.get("/a,/b")?.());
  expect(shown?.width).toBe(2);
  await act(async () => endings.get("/a,/b,/c")?.());
  expect(shown?.width).toBe(2);
});
