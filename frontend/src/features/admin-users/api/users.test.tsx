import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { useSetRole } from "./users";

/** The role by now, and the ones that were set. */
let role: string;
let changes: string[];

beforeEach(() => {
  role = "user";
  changes = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (String(input).endsWith("/list_users")) return Response.json([{ id: "u", role, total: 1 }]);
    if (!String(input).endsWith("/set_user_role")) return Response.json([]);
    role = JSON.parse(String(init?.body)).new_role;
    changes.push(role);
    return Response.json({ id: "u", role });
  });
});

function Grant() {
  const { mutate } = useSetRole();
  return (
    <button type="button" onClick={() => mutate({ id: "u", role: "admin" })}>
      Grant
    </button>
  );
}

const grant = async () => fireEvent.click(await screen.findByRole("button", { name: "Grant" }));

it("offers no Undo of a role that another administrator has given meanwhile", async () => {
  renderAt("/", <Grant />);
  role = "admin";
  await grant();

  expect(await screen.findByText("The role is “admin” already.")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Undo" })).not.toBeInTheDocument();
  expect(changes).toEqual([]);
});

it("takes back the own change", async () => {
  renderAt("/", <Grant />);
  await grant();
  fireEvent.click(await screen.findByRole("button", { name: "Undo" }));

  expect(await screen.findByText("Change undone")).toBeVisible();
  expect(changes).toEqual(["admin", "user"]);
});
