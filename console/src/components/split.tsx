/** Two areas above each other with a border that can be dragged, or moved with the arrow keys. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { localStore } from "@/lib/browser-storage";

interface SplitProps {
  /** Under this name the browser remembers the place of the border. */
  name: string;
  /** Accessible name of the border. */
  label: string;
  top: ReactNode;
  bottom: ReactNode;
}

const bounds = { min: 15, max: 85, step: 5 };
const clamp = (percent: number) => Math.round(Math.min(bounds.max, Math.max(bounds.min, percent)));

export function Split({ name, label, top, bottom }: SplitProps) {
  const area = useRef<HTMLDivElement>(null);
  const key = `console:split:${name}`;
  const [percent, setPercent] = useState(() => clamp(Number(localStore.get(key) ?? 42) || 42));
  const move = (next: number) => {
    setPercent(clamp(next));
    localStore.set(key, String(clamp(next)));
  };
  function handleKey(event: KeyboardEvent) {
    const steps: Record<string, number> = {
      ArrowUp: percent - bounds.step,
      ArrowDown: percent + bounds.step,
      Home: bounds.min,
      End: bounds.max,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    move(next);
  }
  function handleDrag(event: PointerEvent) {
    const box = area.current?.getBoundingClientRect();
    if (box === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    move(((event.clientY - box.top) / box.height) * 100);
  }
  return (
    <div ref={area} className="flex min-h-0 flex-1 flex-col">
      <div className="min-h-0 overflow-hidden" style={{ flexBasis: `${percent}%` }}>
        {top}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: hr takes no focus and has no value. */}
      <div
        role="separator"
        aria-label={label}
        aria-orientation="horizontal"
        aria-valuenow={percent}
        aria-valuemin={bounds.min}
        aria-valuemax={bounds.max}
        tabIndex={0}
        onKeyDown={handleKey}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={handleDrag}
        className="relative z-10 h-px shrink-0 cursor-row-resize touch-none bg-line before:absolute before:inset-x-0 before:-top-1 before:-bottom-1 before:content-[''] hover:bg-line-strong"
      />
      <div className="flex min-h-0 flex-1 flex-col overflow-hidden">{bottom}</div>
    </div>
  );
}
