import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { CropView } from "./avatar-crop-dialog";

it("follows a pointer whose events do not say how far it has moved", () => {
  const picture = new Image();
  Object.defineProperties(picture, {
    naturalWidth: { value: 400 },
    naturalHeight: { value: 200 },
  });
  const change = vi.fn();
  render(<CropView picture={picture} crop={{ zoom: 1, x: 0.5, y: 0.5 }} onChange={change} />);
  const view = screen.getByAltText("Chosen for your avatar").parentElement;
  if (view === null) throw new Error("no view");
  view.setPointerCapture = () => undefined;
  view.hasPointerCapture = () => true;

  fireEvent.pointerDown(view, { pointerId: 1, clientX: 100, clientY: 100 });
  fireEvent.pointerMove(view, { pointerId: 1, clientX: 68, clientY: 100 });

  const [crop] = change.mock.calls[0] ?? [];
  expect(crop.x).toBeGreaterThan(0.5);
  expect(crop.y).toBe(0.5);
});
