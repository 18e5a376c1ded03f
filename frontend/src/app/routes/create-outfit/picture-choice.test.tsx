import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Box } from "@/features/submissions/api/arrange-pieces";
import { emptyDraft, type PickedItem } from "@/features/submissions/api/draft";
import { renderAt } from "@/testing/render";
import { AdjustPieces } from "./adjust-pieces";
import { Composition } from "./composition";
import { PictureChoice } from "./picture-choice";

/** Ends the drawing of these pictures; a test decides which of two ends first. */
const endings = vi.hoisted(() => new Map<string, () => void>());
vi.mock("@/features/submissions/api/compose-picture", () => ({
  drawComposition: (
    canvas: HTMLCanvasElement,
    items: { image: string }[],
    layout: { arrangement: string },
  ) =>
    new Promise<Box[]>((done) => {
      endings.set([layout.arrangement, ...items.map(({ image }) => image)].join(), () => {
        // The width tells whose drawing it is.
        canvas.width = items.length;
        done(items.map((_, index) => ({ x: 100 + 500 * index, y: 200, width: 300, height: 600 })));
      });
    }),
}));

const itemsOf = (...images: string[]) => images.map((image) => ({ id: image, name: image, image }));

it("shows the sheet of the present items, also when an earlier one is drawn later", async () => {
  const { container, rerender } = render(
    <Composition items={itemsOf("/a", "/b", "/c")} arrangement="laid" moved={{}} />,
  );
  const shown = container.querySelector("canvas");
  await vi.waitFor(() => expect(endings.size).toBe(1));
  rerender(<Composition items={itemsOf("/a", "/b")} arrangement="laid" moved={{}} />);
  await vi.waitFor(() => expect(endings.size).toBe(2));

  await act(async () => endings.get("laid,/a,/b")?.());
  expect(shown?.width).toBe(2);
  await act(async () => endings.get("laid,/a,/b,/c")?.());
  expect(shown?.width).toBe(2);
});

it("offers three arrangements of all items, and none while another picture is chosen", async () => {
  const item = { image_color: null, price: 1, gender: "women" } as const;
  const items: PickedItem[] = itemsOf("/a", "/b").map((one) => ({ ...item, ...one }));
  const onChange = vi.fn();
  const draft = { ...emptyDraft(), items };
  renderAt("/", <PictureChoice userId="u" draft={draft} onChange={onChange} />);

  expect(await screen.findByRole("radio", { name: "Laid out" })).toBeChecked();
  fireEvent.click(screen.getByRole("radio", { name: "As worn" }));
  expect(onChange).toHaveBeenCalledWith({ picture: { kind: "composed", arrangement: "worn" } });
  const other = { ...draft, picture: { kind: "item", itemId: "/b" } } as const;
  renderAt("/", <PictureChoice userId="u" draft={other} onChange={onChange} />);
  expect(screen.getAllByRole("radio", { name: "As worn" })).toHaveLength(1);
});

it("moves a piece with the arrow keys and by dragging, and puts everything back", async () => {
  const onMove = vi.fn();
  const sheet = (moved: Record<string, { x: number; y: number }>) => (
    <AdjustPieces items={itemsOf("/k", "/l")} arrangement="worn" moved={moved} onMove={onMove} />
  );
  const { rerender } = render(sheet({}));
  await vi.waitFor(() => expect(endings.has("worn,/k,/l")).toBe(true));
  await act(async () => endings.get("worn,/k,/l")?.());
  const piece = screen.getByRole("button", { name: "Move /k" });
  expect(screen.queryByRole("button", { name: "Put everything back" })).toBeNull();

  fireEvent.keyDown(piece, { key: "ArrowRight" });
  expect(onMove).toHaveBeenLastCalledWith({ "/k": { x: 12, y: 0 } });
  fireEvent.keyDown(piece, { key: "ArrowUp", shiftKey: true });
  expect(onMove).toHaveBeenLastCalledWith({ "/k": { x: 0, y: -60 } });
  expect(fireEvent.keyDown(piece, { key: "Tab" })).toBe(true);

  // In jsdom the sheet has no width, so a pixel of the pointer is one of the sheet's whole width.
  Object.defineProperty(piece.parentElement, "clientWidth", { value: 600 });
  piece.setPointerCapture = () => undefined;
  const at = (clientX: number, clientY: number) => ({ pointerId: 1, button: 0, clientX, clientY });
  fireEvent.pointerDown(piece, at(50, 50));
  fireEvent.pointerMove(piece, at(60, 40));
  fireEvent.pointerUp(piece, at(70, 30));
  expect(onMove).toHaveBeenLastCalledWith({ "/k": { x: 40, y: -40 } });

  const calls = onMove.mock.calls.length;
  fireEvent.pointerDown(piece, at(50, 50));
  fireEvent.pointerUp(piece, at(51, 50));
  fireEvent.pointerDown(piece, at(50, 50));
  fireEvent.pointerCancel(piece, at(90, 90));
  expect(onMove).toHaveBeenCalledTimes(calls);

  rerender(sheet({ "/k": { x: 40, y: -40 } }));
  fireEvent.click(screen.getByRole("button", { name: "Put everything back" }));
  expect(onMove).toHaveBeenLastCalledWith({});
});

it("leaves a finger to scroll the page until the pieces are to be moved", async () => {
  vi.spyOn(window, "matchMedia").mockImplementation((query) =>
    Object.assign(new EventTarget() as MediaQueryList, { matches: true, media: query }),
  );
  const onMove = vi.fn();
  render(
    <AdjustPieces items={itemsOf("/m", "/n")} arrangement="laid" moved={{}} onMove={onMove} />,
  );
  await vi.waitFor(() => expect(endings.has("laid,/m,/n")).toBe(true));
  await act(async () => endings.get("laid,/m,/n")?.());
  const piece = screen.getByRole("button", { name: "Move /m" });
  Object.defineProperty(piece.parentElement, "clientWidth", { value: 600 });
  piece.setPointerCapture = () => undefined;
  const touch = { pointerId: 1, pointerType: "touch", button: 0 };
  const drag = () => {
    fireEvent.pointerDown(piece, { ...touch, clientX: 50, clientY: 50 });
    fireEvent.pointerUp(piece, { ...touch, clientX: 60, clientY: 80 });
  };

  drag();
  expect(onMove).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: "Move the pieces" }));
  drag();
  expect(onMove).toHaveBeenCalledOnce();
  fireEvent.click(screen.getByRole("button", { name: "Done" }));
  drag();
  expect(onMove).toHaveBeenCalledOnce();
});
