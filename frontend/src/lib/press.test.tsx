import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { holdLists } from "./press";

afterEach(() => {
  vi.useRealTimers();
});

/** The events of a browser for a press, before its release. */
function press(element: Element): void {
  fireEvent.pointerDown(element, { button: 0 });
  fireEvent.mouseDown(element, { button: 0 });
}

function release(element: Element): void {
  fireEvent.pointerUp(element, { button: 0 });
  fireEvent.mouseUp(element, { button: 0 });
  fireEvent.click(element);
}

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

interface ItemsProps {
  onAdd: (name: string) => void;
}

function Items({ onAdd }: ItemsProps) {
  const { data = [] } = useQuery({
    queryKey: ["items"],
    queryFn: (): string[] => [],
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data.map((name) => (
    <button key={name} type="button" onClick={() => onAdd(name)}>
      {name}
    </button>
  ));
}

function openItems(onAdd: (name: string) => void) {
  holdLists();
  const client = new QueryClient();
  client.setQueryData(["items"], ["Boots", "Coat"]);
  render(
    <QueryClientProvider client={client}>
      <input aria-label="Search" />
      <Items onAdd={onAdd} />
    </QueryClientProvider>,
  );
  return { arrive: (names: string[]) => client.setQueryData(["items"], names) };
}

const names = () => screen.getAllByRole("button").map(({ textContent }) => textContent);

it("a list that arrives between press and release is shown after the click", async () => {
  vi.useFakeTimers();
  const added = vi.fn();
  const { arrive } = openItems(added);
  const coat = screen.getByRole("button", { name: "Coat" });

  press(coat);
  arrive(["Coat"]);
  await pass(200);
  expect(names()).toEqual(["Boots", "Coat"]);
  release(coat);
  expect(added).toHaveBeenCalledWith("Coat");
  await pass(10);
  expect(names()).toEqual(["Coat"]);
});

it("the click of a finger comes after its release, and the list after the click", async () => {
  vi.useFakeTimers();
  const { arrive } = openItems(vi.fn());
  const coat = screen.getByRole("button", { name: "Coat" });

  press(coat);
  arrive(["Coat"]);
  fireEvent.pointerUp(coat, { button: 0 });
  await pass(100);
  expect(names()).toEqual(["Boots", "Coat"]);
  // A swipe ends without a click.
  await pass(250);
  expect(names()).toEqual(["Coat"]);
});

it("a field that loses the focus to what is pressed does not end the press", async () => {
  vi.useFakeTimers();
  const { arrive } = openItems(vi.fn());
  const field = screen.getByRole("textbox", { name: "Search" });
  field.focus();
  press(screen.getByRole("button", { name: "Coat" }));
  fireEvent(field, new Event("change", { bubbles: true }));
  act(() => field.blur());
  arrive(["Coat"]);
  await pass(200);
  expect(names()).toEqual(["Boots", "Coat"]);
});

it("a press without an end, such as that of a scrollbar, holds nothing up for long", async () => {
  vi.useFakeTimers();
  const { arrive } = openItems(vi.fn());
  press(screen.getByRole("button", { name: "Coat" }));
  arrive(["Coat"]);
  await pass(1600);
  expect(names()).toEqual(["Coat"]);
});
