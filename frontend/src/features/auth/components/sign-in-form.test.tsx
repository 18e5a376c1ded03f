import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { SignInForm } from "./sign-in-form";

async function openForm() {
  const onSignedIn = vi.fn();
  renderAt(
    "/auth",
    <SignInForm
      onForgotPassword={() => undefined}
      onUnconfirmed={() => undefined}
      onSignedIn={onSignedIn}
    />,
  );
  return {
    onSignedIn,
    email: await screen.findByLabelText("Email"),
    password: screen.getByLabelText("Password"),
    submit: screen.getByRole("button", { name: "Sign In" }),
  };
}

describe("SignInForm", () => {
  it("explains invalid input under the field without a request, and keeps what was typed", async () => {
    const fetch = vi.fn();
    vi.stubGlobal("fetch", fetch);
    const { email, password, submit } = await openForm();

    await userEvent.type(email, "noah");
    await userEvent.click(submit);

    expect(await screen.findByText("Please enter a valid email address.")).toBeVisible();
    expect(email).toBeInvalid();
    expect(email).toHaveAccessibleDescription("Please enter a valid email address.");
    expect(password).toHaveAccessibleDescription("Please enter your password.");
    expect(email).toHaveValue("noah");
    expect(fetch).not.toHaveBeenCalled();
  });

  it("sends no sixth request after five wrong passwords", async () => {
    const fetch = vi.fn(async () =>
      Response.json(
        { code: "invalid_credentials", message: "Invalid login credentials" },
        { status: 400, headers: { "x-supabase-api-version": "2024-01-01" } },
      ),
    );
    vi.stubGlobal("fetch", fetch);
    const { email, password, submit, onSignedIn } = await openForm();
    await userEvent.type(email, " Noah@Lookbook.test ");
    await userEvent.type(password, "wrong-password");

    for (let attempt = 1; attempt <= 5; attempt++) {
      await userEvent.click(submit);
      await waitFor(() => expect(fetch).toHaveBeenCalledTimes(attempt));
      await waitFor(() => expect(submit).toBeEnabled());
    }
    expect(
      (await screen.findAllByText("Invalid email or password. Please try again.")).length,
    ).toBeGreaterThan(0);
    expect(fetch).toHaveBeenCalledTimes(5);

    await userEvent.click(submit);
    expect(await screen.findByText("Too many attempts")).toBeVisible();
    expect(fetch).toHaveBeenCalledTimes(5);
    expect(onSignedIn).not.toHaveBeenCalled();
  });
});
