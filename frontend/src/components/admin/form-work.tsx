import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";

interface FormWork {
  /** Whether something is under way whose result a field takes over: a row that is created, a file that is uploaded. */
  isBusy: boolean;
  /** Runs such work. Until it ends the form cannot be saved, because it would be saved without the result. */
  during: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Counts lines beside the fields in which something is typed. */
  countTyped: (change: number) => void;
  /** Whether a row is named that is to be made on the way, and is not made yet: saved now, the form would leave it out. */
  hasUnadded: boolean;
  countUnadded: (change: number) => void;
}

const FormWorkContext = createContext<FormWork>({
  isBusy: false,
  during: (work) => work,
  countTyped: () => undefined,
  hasUnadded: false,
  countUnadded: () => undefined,
});

interface FormWorkProviderProps {
  countTyped: (change: number) => void;
  children: ReactNode;
}

/** Counts the work that fields of a form have under way. */
export function FormWorkProvider({ countTyped, children }: FormWorkProviderProps) {
  const [running, setRunning] = useState(0);
  const during = useCallback(async <Result,>(work: Promise<Result>): Promise<Result> => {
    setRunning((count) => count + 1);
    try {
      return await work;
    } finally {
      setRunning((count) => count - 1);
    }
  }, []);
  const [unadded, setUnadded] = useState(0);
  const countUnadded = useCallback((change: number) => setUnadded((count) => count + change), []);
  const value = useMemo(
    () => ({
      isBusy: running > 0,
      during,
      countTyped,
      hasUnadded: unadded > 0,
      countUnadded,
    }),
    [running, during, countTyped, unadded, countUnadded],
  );
  return <FormWorkContext value={value}>{children}</FormWorkContext>;
}

export function useFormWork(): FormWork {
  return useContext(FormWorkContext);
}

/** Has the dialog ask before it closes while something is typed into a line that is no field of its form. */
export function useTypedBeside(isTyped: boolean): void {
  const { countTyped } = useFormWork();
  useEffect(() => {
    if (!isTyped) return undefined;
    countTyped(1);
    return () => countTyped(-1);
  }, [isTyped, countTyped]);
}

/** The same for the name of a row that is to be made on the way. The form is not saved before it is added or taken out. */
export function useUnadded(isTyped: boolean): void {
  const { countUnadded } = useFormWork();
  useTypedBeside(isTyped);
  useEffect(() => {
    if (!isTyped) return undefined;
    countUnadded(1);
    return () => countUnadded(-1);
  }, [isTyped, countUnadded]);
}
