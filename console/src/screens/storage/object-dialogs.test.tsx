import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { type ObjectAction, ObjectDialog } from "./object-dialogs";

/** Bodies of the requests that were sent, in order. */
let sent: unknown[];
let isAway: boolean;

beforeEach(() => {
  sent = [];
  isAway = false;
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method !== "POST") return new Promise(() => {});
    if (isAway) throw new TypeError("Failed to fetch");
    sent.push(JSON.parse(String(init.body)));
    return Response.json({ message: "Successfully moved" });
  });
});
afterEach(() => vi.unstubAllGlobals());

function open(action: Partial<ObjectAction>) {
  const [onClose, onDone] = [vi.fn(), vi.fn()];
  const whole: ObjectAction = { kind: "rename", bucket: "photos", names: ["a/one.txt"], ...action };
  renderConsole(<ObjectDialog action={whole} onClose={onClose} onDone={onDone} />);
  return { onClose, onDone };
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

it("console_031_a_name_that_was_typed_is_asked_about_and_stays_when_the_server_is_away", async () => {
  const { onClose, onDone } = open({});
  const name = screen.getByLabelText("New name");
  await userEvent.clear(name);
  await userEvent.type(name, "two.txt");
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Discard what you typed?")).toBeVisible();
  await press("Cancel");

  isAway = true;
  await press("Rename");
  expect(await screen.findByText("It was not done")).toBeVisible();
  expect(name).toHaveValue("two.txt");
  isAway = false;
  await press("Rename");
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(sent).toMatchObject([{ sourceKey: "a/one.txt", destinationKey: "a/two.txt" }]);
  expect(onClose).not.toHaveBeenCalled();
});

it("console_031_a_name_that_is_as_it_was_is_neither_saved_nor_asked_about", async () => {
  const { onClose } = open({});
  const name = screen.getByLabelText("New name");
  await userEvent.type(name, "x{Backspace}");

  expect(screen.getByRole("button", { name: "Rename" })).toBeDisabled();
  await userEvent.keyboard("{Escape}");
  expect(onClose).toHaveBeenCalledOnce();
});

it("console_031_the_folder_of_a_move_is_asked_about", async () => {
  const { onClose, onDone } = open({ kind: "move" });
  const folder = screen.getByLabelText("To folder");
  await userEvent.clear(folder);
  await userEvent.type(folder, "b");
  await press("Close");
  expect(onClose).not.toHaveBeenCalled();
  await press("Cancel");
  await waitFor(() => expect(screen.getByRole("button", { name: "Close" })).toHaveFocus());
  await press("Move");

  await waitFor(() => expect(onDone).toHaveBeenCalled());
  expect(sent).toMatchObject([{ sourceKey: "a/one.txt", destinationKey: "b/one.txt" }]);
});

it("console_033_nothing_is_typed_into_a_name_that_is_being_saved", async () => {
  let answer = () => {};
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method !== "POST") return new Promise(() => {});
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return Response.json({ message: "Successfully moved" });
  });
  const { onDone } = open({});
  const name = screen.getByLabelText("New name");
  await userEvent.type(name, "2{Enter}");
  await screen.findByText("Saving…");
  await userEvent.type(name, "3");
  expect(name).toHaveValue("one.txt2");
  answer();
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
});
