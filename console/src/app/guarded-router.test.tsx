import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { Link, Route, Routes, useNavigate } from "react-router";
import { beforeEach, expect, it } from "vitest";
import { Dialog } from "@/components/dialog";
import { KeepTyped } from "@/components/keep-typed";
import { GuardedRouter } from "./guarded-router";

function Form() {
  const [text, setText] = useState("");
  return (
    <>
      <KeepTyped isDirty={text !== ""} />
      <input aria-label="Text" value={text} onChange={(event) => setText(event.target.value)} />
    </>
  );
}

/** Closes after it has saved, and opens what it has made. */
function Window({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <Dialog title="New thing" onClose={onClose}>
      <input aria-label="Name" />
      <button
        type="button"
        onClick={() => {
          onClose();
          void navigate("/elsewhere");
        }}
      >
        Save
      </button>
      <button type="button" onClick={() => void navigate("/elsewhere")}>
        Look elsewhere
      </button>
    </Dialog>
  );
}

function WindowPage() {
  const [isOpen, setOpen] = useState(true);
  return isOpen ? <Window onClose={() => setOpen(false)} /> : <p>closed</p>;
}

/** A form that is half filled in when a window is opened over it. */
function FormWithWindow() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Form />
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      {isOpen && <Window onClose={() => setOpen(false)} />}
    </>
  );
}

beforeEach(async () => {
  window.history.pushState({ idx: 0 }, "", "/start");
  render(
    <GuardedRouter>
      <Link to="/form">to the form</Link>
      <Link to="/window">to the window</Link>
      <Link to="/both">to the both</Link>
      <Link to="?filter=1">to a filter</Link>
      <Routes>
        <Route path="/form" element={<Form />} />
        <Route path="/window" element={<WindowPage />} />
        <Route path="/both" element={<FormWithWindow />} />
        <Route path="*" element={<p>another page</p>} />
      </Routes>
    </GuardedRouter>,
  );
});

const question = () => screen.findByText("Discard what you typed?");
const answer = (name: "Cancel" | "Discard") =>
  userEvent.click(screen.getByRole("button", { name }));
const goBack = () => act(async () => window.history.back());

async function typeInto(page: string, field: string) {
  await userEvent.click(screen.getByText(`to the ${page}`));
  await userEvent.type(screen.getByLabelText(field), "garments");
}

it("console_031_a_link_asks_before_it_takes_a_typed_form_away", async () => {
  await typeInto("form", "Text");
  await userEvent.click(screen.getByText("to a filter"));
  expect(window.location.search).toBe("?filter=1");
  await userEvent.click(screen.getByText("to the window"));

  await question();
  await answer("Cancel");
  expect(screen.getByLabelText("Text")).toHaveValue("garments");
  await userEvent.click(screen.getByText("to the window"));
  await question();
  await answer("Discard");
  expect(await screen.findByLabelText("Name")).toBeVisible();
});

it("console_031_back_asks_too_and_goes_on_when_the_text_may_go", async () => {
  await typeInto("form", "Text");
  await goBack();

  await question();
  expect(window.location.pathname).toBe("/form");
  await answer("Cancel");
  expect(screen.getByLabelText("Text")).toHaveValue("garments");
  await goBack();
  await question();
  await answer("Discard");
  expect(await screen.findByText("another page")).toBeVisible();
  expect(window.location.pathname).toBe("/start");
});

it("console_031_back_is_meant_for_the_window_in_which_something_is_typed", async () => {
  await typeInto("window", "Name");
  await goBack();
  await question();
  await answer("Discard");

  expect(await screen.findByText("closed")).toBeVisible();
  expect(window.location.pathname).toBe("/window");
});

it("console_031_a_window_that_closes_itself_and_goes_on_asks_nothing", async () => {
  await typeInto("window", "Name");
  await userEvent.click(screen.getByText("Look elsewhere"));
  await question();
  await answer("Cancel");
  await userEvent.click(screen.getByText("Save"));

  expect(await screen.findByText("another page")).toBeVisible();
  expect(screen.queryByText("Discard what you typed?")).toBeNull();
});

it("console_031_the_browser_asks_before_a_page_with_typed_text_is_loaded_again", async () => {
  const isRefused = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  await userEvent.click(screen.getByText("to the form"));
  expect(isRefused()).toBe(false);
  await userEvent.type(screen.getByLabelText("Text"), "x");
  expect(isRefused()).toBe(true);
  await userEvent.clear(screen.getByLabelText("Text"));
  await waitFor(() => expect(isRefused()).toBe(false));
});

it("console_031_the_form_below_a_window_asks_too_before_a_step_takes_both", async () => {
  await typeInto("both", "Text");
  await userEvent.click(screen.getByText("Open"));
  await userEvent.type(screen.getByLabelText("Name"), "x");
  await userEvent.click(screen.getByText("Look elsewhere"));
  await question();
  expect(screen.getByText("The window closes, and its text is gone.")).toBeVisible();
  await answer("Discard");

  expect(await screen.findByText("It is not saved, and gone when you leave.")).toBeVisible();
  expect(window.location.pathname).toBe("/both");
  await answer("Cancel");
  expect(screen.getByLabelText("Text")).toHaveValue("garments");
  expect(screen.queryByLabelText("Name")).toBeNull();
});
