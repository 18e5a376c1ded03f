import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { emptyDraft } from "@/features/submissions/api/draft";
import { renderAt } from "@/testing/render";
import { SelectItems } from "./select-items";
import { useWizardParams } from "./wizard-params";

const onChange = vi.fn();

function FirstStep() {
  const draft = { ...emptyDraft(), gender: "women" as const };
  return (
    <SelectItems params={useWizardParams()} draft={draft} onChange={onChange} onNext={vi.fn()} />
  );
}

beforeEach(() => {
  onChange.mockClear();
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) =>
    Response.json(String(input).includes("/brands") ? [{ id: "b", name: "Tarn & Tiller" }] : []),
  );
});

const address = () => screen.getByTestId("address").textContent;

it("an empty search names what it looks for, and each part can be taken back", async () => {
  renderAt("/create-outfit?q=no+such&brand=tarn-tiller", <FirstStep />);
  expect(await screen.findByText("No items found matching your criteria.")).toBeVisible();

  await userEvent.click(screen.getByRole("button", { name: "Look without Women" }));
  expect(onChange).toHaveBeenCalledWith({ gender: "all" });
  await userEvent.click(await screen.findByRole("button", { name: "Look without Tarn & Tiller" }));
  await waitFor(() => expect(address()).toBe("/create-outfit?q=no+such"));
  await userEvent.click(screen.getByRole("button", { name: 'Look without "no such"' }));

  await waitFor(() => expect(address()).toBe("/create-outfit"));
});

it("an empty search takes everything back at once", async () => {
  renderAt("/create-outfit?q=no+such&brand=tarn-tiller&category=bags", <FirstStep />);

  await userEvent.click(await screen.findByRole("button", { name: "Clear all" }));

  await waitFor(() => expect(address()).toBe("/create-outfit"));
  expect(onChange).toHaveBeenCalledWith({ gender: "all" });
});
