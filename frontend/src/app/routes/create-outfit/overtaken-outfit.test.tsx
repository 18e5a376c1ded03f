import { screen } from "@testing-library/react";
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
