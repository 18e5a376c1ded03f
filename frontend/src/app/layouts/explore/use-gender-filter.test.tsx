import { act, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import { useGenderFilter } from "./use-gender-filter";

function Chips() {
  const { toggle } = useGenderFilter();
  return (["women", "men"] as const).map((gender) => (
    <button key={gender} type="button" onClick={() => toggle(gender)}>
      {gender}
    </button>
  ));
}

it("keeps both of two chips that are tapped before anything is drawn", async () => {
  renderAt("/?section=top", <Chips />);
  const women = await screen.findByRole("button", { name: "women" });
  act(() => {
    women.click();
    screen.getByRole("button", { name: "men" }).click();
  });

  await waitFor(() =>
    expect(screen.getByTestId("address")).toHaveTextContent("/?section=top&gender=men,women"),
  );
});
