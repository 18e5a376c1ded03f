// @vitest-environment node
import { expect, test } from "vitest";
import type { Setting } from "@/api/settings";
import { groupSettings } from "./setting-groups";

const settings: Setting[] = [
  { key: "api.port", value: 54321, origin: "default", secret: false, set: true },
  {
    key: "project_id",
    value: "shop",
    origin: { file: "config.toml", line: 1 },
    secret: false,
    set: true,
  },
  {
    key: "auth.jwt_secret",
    value: "hidden",
    origin: { environment: "JWT" },
    secret: true,
    set: true,
  },
];

const keys = (text: string, onlyChanged = false) =>
  groupSettings(settings, text, onlyChanged).flatMap((group) =>
    group.settings.map(({ key }) => key),
  );

test("CONSOLE-141 settings stand under their section", () => {
  expect(groupSettings(settings, "", false).map(({ name }) => name)).toEqual([
    "api",
    "project",
    "auth",
  ]);
});

test("CONSOLE-141 key, value and origin are searched, secrets are not", () => {
  expect(keys("54321")).toEqual(["api.port"]);
  expect(keys("config.toml:1")).toEqual(["project_id"]);
  expect(keys("hidden")).toEqual([]);
  expect(keys("", true)).toEqual(["project_id", "auth.jwt_secret"]);
});
