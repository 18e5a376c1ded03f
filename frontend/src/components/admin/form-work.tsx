import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";

interface FormWork {
  /** Whether something is under way whose result a field takes over: a row that is created, a file that is uploaded. */
  isBusy: boolean;
  /** Runs such work. Until it ends the form cannot be saved, because it would be saved without the result. */
  during: <Result>(work: Promise<Result>) => Promise<Result>;
}

const FormWorkContext = createContext<FormWork>({ isBusy: false, during: (work) => work });

/** Counts the work that fields of a form have under way. */
export function FormWorkProvider({ children }: { children: ReactNode }) {
  const [running, setRunning] = useState(0);
  const during = useCallback(async <Result,>(work: Promise<Result>): Promise<Result> => {
    setRunning((count) => count + 1);
    try {
      return await work;
    } finally {
      setRunning((count) => count - 1);
    }
  }, []);
  const value = useMemo(() => ({ isBusy: running > 0, during }), [running, during]);
  return <FormWorkContext value={value}>{children}</FormWorkContext>;
}

export function useFormWork(): FormWork {
  return useContext(FormWorkContext);
}
