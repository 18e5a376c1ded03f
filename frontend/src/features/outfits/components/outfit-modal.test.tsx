import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { buildOutfit } from "@/testing/outfits";
import { renderAt } from "@/testing/render";
import { OutfitModal } from "./outfit-modal";

const outfit = buildOutfit("rain-plan", { name: "Rain plan" });

function openModal() {
  vi.stubGlobal("fetch", async () => Response.json([]));
  const handlers = { onPrevious: vi.fn(), onNext: vi.fn(), onClose: vi.fn(), onLike: vi.fn() };
  renderAt(
    "/",
    <OutfitModal
      subject={{ kind: "outfit", outfit }}
      onPrevious={handlers.onPrevious}
      onNext={handlers.onNext}
      onClose={handlers.onClose}
      showItems
      actions={() => (
        <button type="button" data-shortcut="l" onClick={handlers.onLike}>
          Like
        </button>
      )}
    />,
  );
  return handlers;
}

describe("OutfitModal", () => {
  it("answers to the keyboard", async () => {
    const handlers = openModal();
    expect(await screen.findByRole("dialog", { name: "Rain plan" })).toBeInTheDocument();

    await userEvent.keyboard("{ArrowRight}{ArrowLeft}{ArrowLeft}l{Escape}");

    expect(handlers.onNext).toHaveBeenCalledTimes(1);
    expect(handlers.onPrevious).toHaveBeenCalledTimes(2);
    expect(handlers.onLike).toHaveBeenCalledTimes(1);
    expect(handlers.onClose).toHaveBeenCalledTimes(1);
  });

  it("takes the letter at the same place of a keyboard without Latin letters", async () => {
    const handlers = openModal();
    const dialog = await screen.findByRole("dialog", { name: "Rain plan" });

    fireEvent.keyDown(dialog, { key: "д", code: "KeyL" });

    expect(handlers.onLike).toHaveBeenCalledTimes(1);
  });

  it("says what it does not know", async () => {
    openModal();
    expect(await screen.findByText("No creator information")).toBeVisible();
    expect(await screen.findByText("No items found in this outfit")).toBeVisible();
    expect(screen.getByRole("heading", { name: "Items (0)" })).toBeVisible();
  });
});
