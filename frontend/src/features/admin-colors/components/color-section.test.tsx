import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { ColorSection } from "./color-section";

afterEach(() => vi.unstubAllGlobals());

/** The form of a new color; inserts are answered by this. */
async function openForm(answer: () => Response): Promise<void> {
  window.history.replaceState(null, "", "/admin/colors?row=new");
  vi.stubGlobal("fetch", async (_url: RequestInfo | URL, init?: RequestInit) =>
    init?.method === "POST" ? answer() : Response.json([], { headers: { "content-range": "*/0" } }),
  );
  renderAt("/admin/colors?row=new", <ColorSection />);
  await screen.findByRole("dialog", { name: "Add Color" });
}

it("a name that exists is said at its field, which has the focus then", async () => {
  await openForm(() =>
    Response.json(
      {
        code: "23505",
        message: 'duplicate key value violates unique constraint "colors_name_key"',
      },
      { status: 409 },
    ),
  );
  const name = screen.getByLabelText("Name");
  await userEvent.type(name, "Red");
  await userEvent.type(screen.getByLabelText("Hex code"), "#ff0000");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));

  await waitFor(() =>
    expect(name).toHaveAccessibleDescription("There is another color with this name."),
  );
  expect(name).toBeInvalid();
  expect(name).toHaveFocus();
});

it("a color is picked beside the field for its code, and required fields are marked", async () => {
  await openForm(() => Response.json([]));
  const code = screen.getByLabelText("Hex code");
  await userEvent.type(code, "#0fa");
  const picker = screen.getByLabelText("Color picker");
  expect(picker).toHaveValue("#00ffaa");
  fireEvent.change(picker, { target: { value: "#102030" } });

  expect(code).toHaveValue("#102030");
  expect(code).toBeRequired();
  expect(screen.getByLabelText("Description")).not.toBeRequired();
});
