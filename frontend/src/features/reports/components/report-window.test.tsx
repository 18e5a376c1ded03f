import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import { ReportWindow } from "./report-window";

it("begins with the reasons, not with the text that is optional", async () => {
  renderAt(
    "/look/a",
    <ReportWindow
      userId="00000000-0000-4000-8000-000000000001"
      subject={{ kind: "outfit", id: "00000000-0000-4000-8000-000000000002" }}
      name="Night Bus"
      onClose={() => undefined}
    />,
  );

  const [first] = await screen.findAllByRole("radio");
  expect(first).toHaveFocus();
});
