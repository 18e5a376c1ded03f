import { afterEach, expect, it, vi } from "vitest";
import { keyOf, registerShortcut } from "./shortcuts";

const undo: (() => void)[] = [];
const register = (keys: string, run: () => void) => undo.push(registerShortcut({ keys, run }));
const press = (init: KeyboardEventInit, target: EventTarget = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }));

afterEach(() => {
  for (const unregister of undo.splice(0)) unregister();
  document.body.replaceChildren();
});

it("console_002_two_keys_one_after_the_other_go_to_a_screen", () => {
  const run = vi.fn();
  register("g t", run);

  press({ key: "t" });
  expect(run).not.toHaveBeenCalled();
  press({ key: "g" });
  press({ key: "t" });

  expect(run).toHaveBeenCalledOnce();
});

it("console_002_letters_typed_into_a_field_are_no_shortcuts_but_mod_presses_are", () => {
  const field = document.body.appendChild(document.createElement("input"));
  const letter = vi.fn();
  const find = vi.fn();
  register("e", letter);
  register("mod+k", find);

  press({ key: "e" }, field);
  press({ key: "k", ctrlKey: true }, field);

  expect(letter).not.toHaveBeenCalled();
  expect(find).toHaveBeenCalledOnce();
});

it("console_002_the_latest_registration_of_a_key_wins_and_gives_it_back", () => {
  const screen = vi.fn();
  const panel = vi.fn();
  register("esc", screen);
  const close = registerShortcut({ keys: "esc", run: panel });

  press({ key: "Escape" });
  close();
  press({ key: "Escape" });

  expect([panel.mock.calls.length, screen.mock.calls.length]).toEqual([1, 1]);
});

it("console_002_open_dialogs_take_the_keys_of_the_page", () => {
  const run = vi.fn();
  register("e", run);
  const dialog = document.body.appendChild(document.createElement("div"));
  dialog.setAttribute("role", "dialog");

  press({ key: "e" });

  expect(run).not.toHaveBeenCalled();
});

it("names_presses_with_their_modifiers", () => {
  const none = { metaKey: false, ctrlKey: false, altKey: false, shiftKey: false };

  expect(keyOf({ ...none, key: "?", shiftKey: true })).toBe("?");
  expect(keyOf({ ...none, key: "Z", ctrlKey: true, shiftKey: true })).toBe("mod+shift+z");
  expect(keyOf({ ...none, key: "Backspace", altKey: true })).toBe("alt+backspace");
});
