import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { useDraftForm } from "./use-draft-form";

interface FormProps {
  proposal: string;
  isNew: boolean;
  onSubmit: (draft: { name: string }, saved: { name: string }) => void;
}

function Form({ proposal, isNew, onSubmit }: FormProps) {
  const form = useDraftForm({
    saved: { name: proposal },
    isNew,
    findProblem: () => null,
    onSubmit,
  });
  return (
    <>
      <output>{form.draft.name}</output>
      <button type="button" onClick={() => void form.submit()}>
        Save
      </button>
    </>
  );
}

it("console_057_what_a_new_thing_begins_with_is_a_proposal_that_stays_and_what_is_saved_is_followed", async () => {
  const onSubmit = vi.fn();
  const { rerender } = render(<Form proposal="Query 1" isNew onSubmit={onSubmit} />);
  rerender(<Form proposal="Query 2" isNew onSubmit={onSubmit} />);
  expect(screen.getByText("Query 1")).toBeVisible();
  await userEvent.click(screen.getByRole("button"));
  await waitFor(() =>
    expect(onSubmit).toHaveBeenCalledWith({ name: "Query 1" }, { name: "Query 1" }),
  );

  rerender(<Form key="saved" proposal="one" isNew={false} onSubmit={onSubmit} />);
  rerender(<Form key="saved" proposal="two" isNew={false} onSubmit={onSubmit} />);
  expect(await screen.findByText("two")).toBeVisible();
});
