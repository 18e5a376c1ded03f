import { useCallback, useRef } from "react";
import { removeUnusedPictures } from "@/lib/admin-pictures";

/** Remembers which files a form has uploaded, and deletes those that the saved row does not show. */
export function useFormPictures(initial: readonly (string | null | undefined)[]) {
  const uploaded = useRef(new Set<string>());
  const before = useRef(initial);
  const isOver = useRef(false);

  const rememberUpload = useCallback((url: string) => {
    // The form was closed while the file was on its way, so no row will show it.
    if (isOver.current) removeUnusedPictures([url]);
    else uploaded.current.add(url);
  }, []);
  /** After the row was saved with these pictures: deletes what it showed before, and uploads that were replaced. */
  const keepOnly = useCallback((kept: readonly (string | null | undefined)[]) => {
    const all = [...before.current, ...uploaded.current];
    removeUnusedPictures(all.flatMap((url) => (url && !kept.includes(url) ? [url] : [])));
    uploaded.current.clear();
    isOver.current = true;
  }, []);
  /** Removes uploaded pictures after the form was cancelled. */
  const discardUploads = useCallback(() => {
    removeUnusedPictures(uploaded.current);
    uploaded.current.clear();
    isOver.current = true;
  }, []);

  return { rememberUpload, keepOnly, discardUploads };
}
