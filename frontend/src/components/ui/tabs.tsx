import {
  type ComponentProps,
  createContext,
  type KeyboardEvent,
  useContext,
  useId,
  useState,
} from "react";

/**
 * Tabs as the ARIA Authoring Practices describe them. Written here because Radix's are 9 kB of the first load of pages that
 * need nothing else of Radix.
 */
interface TabsState {
  /** Prefix of the element ids that connect a tab with its panel. */
  id: string;
  value: string;
  select: (value: string) => void;
  activationMode: "automatic" | "manual";
}

const TabsContext = createContext<TabsState | null>(null);

function useTabs(): TabsState {
  const state = useContext(TabsContext);
  if (state === null) throw new Error("Parts of tabs are rendered inside <Root> of ui/tabs.");
  return state;
}

interface RootProps extends ComponentProps<"div"> {
  /** The selected tab, when the parent decides; otherwise the tabs remember it, beginning with `defaultValue`. */
  value?: string;
  defaultValue?: string;
  onValueChange?: (value: string) => void;
  /** Manual: arrow keys move the focus, and Enter or Space select. Right where selecting a tab loads something. */
  activationMode?: "automatic" | "manual";
}

export function Root({
  value,
  defaultValue = "",
  onValueChange,
  activationMode = "automatic",
  ...rest
}: RootProps) {
  const id = useId();
  const [own, setOwn] = useState(defaultValue);
  const current = value ?? own;
  const select = (next: string) => {
    if (next === current) return;
    setOwn(next);
    onValueChange?.(next);
  };
  return (
    <TabsContext value={{ id, value: current, select, activationMode }}>
      <div {...rest} />
    </TabsContext>
  );
}

/** Distance to the next tab by key; Home and End go to the ends. */
const steps: Partial<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

export function List(props: ComponentProps<"div">) {
  function moveFocus(event: KeyboardEvent<HTMLDivElement>) {
    const tabs = [...event.currentTarget.querySelectorAll<HTMLButtonElement>('[role="tab"]')];
    const from = tabs.indexOf(document.activeElement as HTMLButtonElement);
    const step = steps[event.key];
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? tabs.length - 1
          : step !== undefined && (from + step + tabs.length) % tabs.length;
    if (to === false || from < 0) return;
    event.preventDefault();
    tabs[to]?.focus();
  }
  return <div role="tablist" onKeyDown={moveFocus} {...props} />;
}

interface TriggerProps extends ComponentProps<"button"> {
  value: string;
}

export function Trigger({ value, onFocus, ...rest }: TriggerProps) {
  const { id, value: current, select, activationMode } = useTabs();
  const isActive = value === current;
  return (
    <button
      type="button"
      role="tab"
      id={`${id}-tab-${value}`}
      aria-selected={isActive}
      aria-controls={isActive ? `${id}-panel-${value}` : undefined}
      tabIndex={isActive ? 0 : -1}
      data-state={isActive ? "active" : "inactive"}
      onClick={() => select(value)}
      onFocus={(event) => {
        onFocus?.(event);
        if (activationMode === "automatic") select(value);
      }}
      {...rest}
    />
  );
}

interface ContentProps extends ComponentProps<"div"> {
  value: string;
}

/** Rendered only while its tab is selected. */
export function Content({ value, ...rest }: ContentProps) {
  const { id, value: current } = useTabs();
  if (value !== current) return null;
  return (
    <div
      role="tabpanel"
      id={`${id}-panel-${value}`}
      aria-labelledby={`${id}-tab-${value}`}
      {...rest}
    />
  );
}
