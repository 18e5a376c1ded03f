// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { Setting } from "@/api/settings";
import type { Fault } from "./api";
import { faultsBelow, judgeStatus, settingsBelow, sortFaults, urlSettings } from "./sections";

const setting = (key: string): Setting => ({
  key,
  value: "x",
  origin: "default",
  secret: false,
  set: true,
});

const fault = (key: string, severity: Fault["severity"] = "error"): Fault => ({
  key,
  severity,
  message: "",
  remedy: "",
});

describe("console_113 settings and faults are shown where they belong", () => {
  const settings = ["auth.site_url", "auth.external.x.secret", "auth.external.xy.secret"].map(
    setting,
  );

  it("finds the keys of a part", () => {
    expect(urlSettings(settings).map(({ key }) => key)).toEqual(["auth.site_url"]);
    expect(settingsBelow(settings, "auth.external.x").map(({ key }) => key)).toEqual([
      "auth.external.x.secret",
    ]);
  });

  it("finds the faults of a part, the worst first", () => {
    const faults = [fault("auth.hook.a.uri", "note"), fault("auth.hook.a"), fault("auth.hook.ab")];
    expect(faultsBelow(sortFaults(faults), "auth.hook.a").map(({ severity }) => severity)).toEqual([
      "error",
      "note",
    ]);
  });

  it("judges what a provider answers", () => {
    expect(judgeStatus(302).isFine).toBe(true);
    expect(judgeStatus(400).text).toMatch(/client id or callback URL/);
    expect(judgeStatus(503).isFine).toBe(false);
  });
});
