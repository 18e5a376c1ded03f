import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import { SearchBox } from "./search-box";

const address = () => screen.getByTestId("address");

it("searches after a pause in typing, and goes back to Explore when cleared", async () => {
  renderAt("/?section=top&gender=men", <SearchBox />);
  const box = await screen.findByRole("searchbox", { name: "Search outfits" });

  await userEvent.type(box, "rain");
  expect(address()).toHaveTextContent("/?section=top&gender=men");
  await waitFor(() => expect(address()).toHaveTextContent("/?q=rain&gender=men"));

  await userEvent.click(screen.getByRole("button", { name: "Clear search" }));
  expect(box).toHaveValue("");
  await waitFor(() => expect(address()).toHaveTextContent("/?gender=men"));
});

it("searches at once when Enter is pressed", async () => {
  renderAt("/", <SearchBox />);
  await userEvent.type(await screen.findByRole("searchbox"), "  rain {Enter}");
  expect(address()).toHaveTextContent("/?q=rain");
});
