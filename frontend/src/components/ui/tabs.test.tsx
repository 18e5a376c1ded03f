import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import * as Tabs from "./tabs";

function renderTabs(activationMode: "automatic" | "manual", onValueChange = vi.fn()) {
  render(
    <Tabs.Root defaultValue="outfits" onValueChange={onValueChange} activationMode={activationMode}>
      <Tabs.List aria-label="Results">
        <Tabs.Trigger value="outfits">Outfits</Tabs.Trigger>
        <Tabs.Trigger value="items">Items</Tabs.Trigger>
        <Tabs.Trigger value="brands">Brands</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="outfits">all outfits</Tabs.Content>
      <Tabs.Content value="items">all items</Tabs.Content>
      <Tabs.Content value="brands">all brands</Tabs.Content>
    </Tabs.Root>,
  );
  return onValueChange;
}

const tab = (name: string) => screen.getByRole("tab", { name });

test("a tab shows its panel, which is named by it", async () => {
  const onValueChange = renderTabs("automatic");

  await userEvent.click(tab("Items"));

  expect(tab("Items")).toHaveAttribute("aria-selected", "true");
  expect(tab("Outfits")).toHaveAttribute("aria-selected", "false");
  expect(screen.getByRole("tabpanel", { name: "Items" })).toHaveTextContent("all items");
  expect(screen.queryByText("all outfits")).toBeNull();
  expect(onValueChange).toHaveBeenCalledExactlyOnceWith("items");
});

test("arrow keys, Home and End select a tab and wrap around", async () => {
  renderTabs("automatic");
  await userEvent.tab();
  expect(tab("Outfits")).toHaveFocus();

  await userEvent.keyboard("{ArrowLeft}");
  expect(tab("Brands")).toHaveFocus();
  expect(tab("Brands")).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{ArrowRight}");
  expect(tab("Outfits")).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{End}");
  expect(tab("Brands")).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{Home}");
  expect(tab("Outfits")).toHaveAttribute("aria-selected", "true");
});

test("with manual activation, arrow keys move the focus and Enter selects", async () => {
  renderTabs("manual");
  await userEvent.tab();

  await userEvent.keyboard("{ArrowRight}");
  expect(tab("Items")).toHaveFocus();
  expect(tab("Outfits")).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{Enter}");
  expect(tab("Items")).toHaveAttribute("aria-selected", "true");
});
