import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { emptyDraft, type PickedItem } from "@/features/submissions/api/draft";
import { renderAt } from "@/testing/render";
import { Composition, PictureChoice } from "./picture-choice";

/** Ends the drawing of these pictures; a test decides which of two ends first. */
const endings = vi.hoisted(() => new Map<string, () => void>());
vi.mock("@/features/submissions/api/compose-picture", () => ({
  drawComposition: (canvas: HTMLCanvasElement, items: { image: string }[], arrangement: string) =>
    new Promise<void>((done) => {
      endings.set([arrangement, ...items.map(({ image }) => image)].join(), () => {
        // The width tells whose drawing it is.
        canvas.width = items.length;
        done();
      });
    }),
}));

const itemsOf = (...images: string[]) => images.map((image) => ({ name: image, image }));

it("shows the sheet of the present items, also when an earlier one is drawn later", async () => {
  const { container, rerender } = render(
    <Composition items={itemsOf("/a", "/b", "/c")} arrangement="laid" />,
  );
  const shown = container.querySelector("canvas");
  await vi.waitFor(() => expect(endings.size).toBe(1));
  rerender(<Composition items={itemsOf("/a", "/b")} arrangement="laid" />);
  await vi.waitFor(() => expect(endings.size).toBe(2));

  await act(async () => endings.get("laid,/a,/b")?.());
  expect(shown?.width).toBe(2);
  await act(async () => endings.get("laid,/a,/b,/c")?.());
  expect(shown?.width).toBe(2);
});

it("offers three arrangements of all items, and none while another picture is chosen", async () => {
  const item = { image_color: null, price: 1, gender: "women" } as const;
  const items: PickedItem[] = itemsOf("/a", "/b").map((one) => ({ ...item, ...one, id: one.name }));
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
