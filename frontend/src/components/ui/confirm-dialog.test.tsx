import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { ConfirmDialog } from "./confirm-dialog";

function Settings() {
  const [isAsking, setAsking] = useState(false);
  const [isRunning, setRunning] = useState(false);
  return (
    <main id="main" tabIndex={-1}>
      <button type="button" disabled={isRunning} onClick={() => setAsking(true)}>
        Delete account
      </button>
      {isAsking && (
        <ConfirmDialog
          title="Delete your account?"
          text="It is deleted for good."
          confirmLabel="Delete"
          onConfirm={() => {
            setRunning(true);
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </main>
  );
}

it("the focus is on the page while the button that opened the question is disabled, and where buttons get none", async () => {
  render(<Settings />);
  const opener = screen.getByRole("button", { name: "Delete account" });
  // Safari does not give the focus to a button that is clicked.
  fireEvent.click(opener);
  expect(document.activeElement).not.toBe(opener);
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.getByRole("main")).toHaveFocus());

  await userEvent.click(opener);
  await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.getByRole("main")).toHaveFocus());
});

function Photo() {
  const [isAsking, setAsking] = useState(false);
  const [isThere, setThere] = useState(true);
  return (
    <main id="main" tabIndex={-1}>
      {isThere && (
        <button type="button" onClick={() => setAsking(true)}>
          Delete photo 1
        </button>
      )}
      {isAsking && (
        <ConfirmDialog
          title="Delete photo 1?"
          text="It is deleted for good."
          confirmLabel="Delete"
          onConfirm={() => {
            setThere(false);
            setAsking(false);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </main>
  );
}

it("the focus returns to what has opened the question, or to the page when that has gone", async () => {
  render(<Photo />);
  const opener = screen.getByRole("button", { name: "Delete photo 1" });
  await userEvent.click(opener);
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(opener).toHaveFocus());

  await userEvent.keyboard("{Enter}");
  await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.getByRole("main")).toHaveFocus());
});
