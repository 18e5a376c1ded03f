import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { emptyDraft } from "@/features/submissions/api/draft";
import { OvertakenError } from "@/lib/save-changes";
import { renderAt } from "@/testing/render";
import { OvertakenOutfit } from "./overtaken-outfit";

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json([]));
});

it("names a picture that is drawn when the outfit is saved, which has no address yet", async () => {
  const theirs = { main_image: "/storage/v1/object/public/images/theirs.webp" };
  const present = { ...theirs, name: "", gender: "women", item_ids: [], version: 2 };
  renderAt(
    "/",
    <OvertakenOutfit
      draft={{ ...emptyDraft(), picture: { kind: "composed" } }}
      failure={new OvertakenError(theirs, [], present)}
      onResolve={vi.fn()}
      onDismiss={vi.fn()}
    />,
  );

  expect(await screen.findByRole("group", { name: "Picture" })).toHaveTextContent(
    /Yours\s*Drawn of your items/,
  );
  expect(screen.queryByText("Empty")).toBeNull();
});

it("saves once the items have arrived when Save was pressed before, and nothing after Cancel", async () => {
  for (const isCancelled of [false, true]) {
    let arrive = (_response: Response) => {};
    const promise = new Promise<Response>((resolve) => {
      arrive = resolve;
    });
    vi.stubGlobal("fetch", () => promise);
    const onResolve = vi.fn();
    const onDismiss = vi.fn();
    const theirs = { name: "Theirs" };
    const present = { ...theirs, gender: "women", item_ids: [`item-${isCancelled}`], version: 2 };
    const { unmount } = renderAt(
      "/",
      <OvertakenOutfit
        draft={emptyDraft()}
        failure={new OvertakenError(theirs, [], present)}
        onResolve={onResolve}
        onDismiss={onDismiss}
      />,
    );
    const save = await screen.findByRole("button", { name: "Save" });
    await userEvent.click(save);
    expect(save).toHaveAttribute("aria-busy", "true");
    expect(onResolve).not.toHaveBeenCalled();
    if (isCancelled) {
      await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
      expect(onDismiss).toHaveBeenCalled();
      unmount();
    }

    arrive(Response.json([]));
    if (isCancelled) await new Promise((resolve) => setTimeout(resolve, 50));
    else await vi.waitFor(() => expect(onResolve).toHaveBeenCalledOnce());

    expect(onResolve).toHaveBeenCalledTimes(isCancelled ? 0 : 1);
    unmount();
  }
});
