import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { buildOutfit } from "@/testing/outfits";
import { renderAt } from "@/testing/render";
import { Discovery } from "./discovery";

beforeEach(() => {
  // Wide enough for the panel of filters, which phones show as a sheet.
  vi.spyOn(window, "matchMedia").mockImplementation((query) =>
    Object.assign(new EventTarget() as MediaQueryList, { matches: true, media: query }),
  );
  // Lists that take their time: what is drawn lags behind what was chosen.
  vi.stubGlobal("fetch", async () => {
    await new Promise((resolve) => setTimeout(resolve, 120));
    return Response.json([]);
  });
});

const address = () => screen.getByTestId("address").textContent;

it("keeps both of two chips that are tapped shortly after each other", async () => {
  renderAt("/discovery", <Discovery />);
  await userEvent.click(await screen.findByRole("button", { name: "Filters" }));
  const women = await screen.findByRole("button", { name: "Women" });
  const men = screen.getByRole("button", { name: "Men" });

  // Before anything can be drawn.
  act(() => {
    women.click();
    men.click();
  });

  await waitFor(() => expect(address()).toContain("gender=women,men"));
});

it("keeps a filter that is chosen while a typed text waits to be searched", async () => {
  renderAt("/discovery", <Discovery />);
  await userEvent.click(await screen.findByRole("button", { name: "Filters" }));
  const women = await screen.findByRole("button", { name: "Women" });
  fireEvent.change(screen.getByRole("searchbox", { name: "Search outfits and items" }), {
    target: { value: "linen" },
  });
  fireEvent.click(women);

  await waitFor(() => expect(address()).toContain("q=linen"));
  expect(address()).toContain("gender=women");
});

it("applies a price that is typed when its panel is closed", async () => {
  renderAt("/discovery", <Discovery />);
  const filters = await screen.findByRole("button", { name: "Filters" });
  await userEvent.click(filters);
  fireEvent.change(await screen.findByPlaceholderText("Lowest price"), { target: { value: "40" } });
  // Without a blur, as when the key Escape closes a sheet.
  act(() => filters.click());

  await waitFor(() => expect(address()).toContain("min=40"));
});

it("says how much each tab has, and leads from an empty one to the other", async () => {
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) =>
    Response.json(
      String(input).includes("/count_found")
        ? [{ outfits: 0, items: 100 }]
        : String(input).includes("/combines")
          ? [buildOutfit("rain-plan")]
          : [],
    ),
  );
  renderAt("/discovery?q=dress", <Discovery />);
  expect(await screen.findByText('No outfits found for "dress".')).toBeVisible();
  expect(await screen.findByRole("heading", { name: "Newest outfits" })).toBeVisible();
  expect(await screen.findByRole("link", { name: /rain-plan/ })).toBeInTheDocument();
  expect(await screen.findByRole("tab", { name: "Outfits 0" })).toBeVisible();
  expect(screen.getByRole("tab", { name: "Items 99+" })).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Show 99+ items" }));

  await waitFor(() => expect(address()).toBe("/discovery?tab=items&q=dress"));
});
