import { expect, it, vi } from "vitest";
import { forgetAccount } from "./delete-account";

it("leaves nothing of a deleted account in the browser, and all of the others", async () => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 204 }));
  const [own, other] = ["0b7c", "1c8d"];
  for (const user of [own, other]) {
    for (const part of [
      "edit-profile",
      "edit-profile-base",
      "edit-profile-sent",
      "create-outfit",
    ]) {
      localStorage.setItem(`lookbook:${part}:${user}`, "{}");
    }
    localStorage.setItem(`lookbook:create-outfit:${user}:outfit`, "{}");
  }
  await forgetAccount(own);

  const left = Object.keys(localStorage).filter((key) => key.startsWith("lookbook:"));
  expect(left).toHaveLength(5);
  expect(left.every((key) => key.includes(other))).toBe(true);
});
