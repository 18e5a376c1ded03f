import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { ImageUp, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { Input } from "@/components/ui/input";
import {
  findFileProblem,
  type PicturePlace,
  pictureTypes,
  uploadPicture,
} from "@/lib/admin-pictures";
import { PictureError } from "@/lib/picture-file";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useFormWork } from "./form-work";

interface PictureFieldProps {
  label: string;
  /** Root-relative path or absolute URL; empty when there is none. */
  value: string;
  place: PicturePlace;
  error?: string | undefined;
  hint?: string | undefined;
  onChange: (url: string) => void;
  /** Called with the address of each uploaded file, so that the form can delete those that it does not keep. */
  onUploaded: (url: string) => void;
  onBlur?: () => void;
}

/** A picture of a row: a file to upload, or the address of a picture elsewhere. */
export function PictureField({
  label,
  value,
  place,
  error,
  hint,
  onChange,
  onUploaded,
  onBlur,
}: PictureFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const { during } = useFormWork();
  const [isUploading, setUploading] = useState(false);

  async function upload(file: File) {
    const problem = findFileProblem(file, place);
    if (problem !== null) {
      toast(problem.title, problem.text, "danger");
      return;
    }
    setUploading(true);
    try {
      const url = await during(uploadPicture(file, place));
      onUploaded(url);
      onChange(url);
      toast("Image uploaded", undefined, "success");
    } catch (failure) {
      if (failure instanceof PictureError) {
        toast("Invalid file type", failure.message, "danger");
        return;
      }
      const text = messageOf(failure, "Failed to upload image. Please try again.");
      toast("Upload failed", text, "danger");
    } finally {
      setUploading(false);
    }
  }

  return (
    <div>
      <Field label={label} error={error} hint={hint}>
        {(attributes) => (
          <Input
            placeholder="https://… or upload a file"
            inputMode="url"
            value={value}
            // The address of the uploaded file takes the place of whatever stands here.
            readOnly={isUploading}
            onChange={(event) => onChange(event.target.value)}
            onBlur={onBlur}
            {...attributes}
          />
        )}
      </Field>
      <div className="mt-2 flex items-center gap-3">
        {value !== "" && (
          <img
            src={value}
            alt={`Current ${label.toLowerCase()}`}
            className="size-16 rounded-md border border-line bg-raised object-cover"
          />
        )}
        <input
          ref={input}
          type="file"
          accept={pictureTypes}
          aria-label={`Upload ${label.toLowerCase()}`}
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            const file = event.target.files?.[0];
            // Lets the same file be chosen again after a failure.
            event.target.value = "";
            if (file !== undefined) void upload(file);
          }}
        />
        <Button pending={isUploading} onClick={() => input.current?.click()}>
          {!isUploading && <ImageUp aria-hidden="true" className="size-4" strokeWidth={1.7} />}
          Upload
        </Button>
        {value !== "" && (
          <Button
            variant="quiet"
            disabled={isUploading}
            onClick={() => {
              onChange("");
              toast("Image removed", undefined, "success");
            }}
          >
            <Trash2 aria-hidden="true" className="size-4" strokeWidth={1.7} />
            Remove
          </Button>
        )}
      </div>
    </div>
  );
}
