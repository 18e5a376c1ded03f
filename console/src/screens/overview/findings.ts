/** Findings in the order in which they matter, one group per kind. */
import type { Finding } from "./api";

const weights = { error: 0, warn: 1, info: 2 };

export function groupFindings(
  findings: readonly Finding[],
  muted: readonly string[],
  isMutedShown: boolean,
): { name: string; findings: Finding[] }[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    if (!isMutedShown && muted.includes(finding.key)) continue;
    groups.set(finding.name, [...(groups.get(finding.name) ?? []), finding]);
  }
  return [...groups]
    .map(([name, members]) => ({ name, findings: members }))
    .sort((one, other) => weightOf(one.findings) - weightOf(other.findings));
}

function weightOf(findings: readonly Finding[]): number {
  return Math.min(...findings.map(({ level }) => weights[level]));
}
