// What a field requires, in a sentence that names the fix.
import { locale, say } from "./words.js";

const number = (text) => {
  const value = Number(text);
  return Number.isNaN(value) ? text : value.toLocaleString(locale);
};

export function requirement(field) {
  const { validity: is, type } = field;
  if (is.customError) return field.validationMessage;
  if (is.badInput)
    return type === "number" ? say("Enter a number.") : say("Enter a complete date.");
  if (is.valueMissing)
    return type === "checkbox"
      ? say("Check this box to continue.")
      : type === "radio" || type.startsWith("select")
        ? say("Choose one.")
        : type === "file"
          ? say("Choose a file.")
          : say("Fill in this field.");
  if (is.typeMismatch)
    return type === "email"
      ? say("Enter an email address, such as kim@example.com.")
      : say("Enter an address that begins with https:// or http://.");
  if (is.tooShort) return say("Enter at least {n} characters.", { n: number(field.minLength) });
  if (is.tooLong) return say("Enter at most {n} characters.", { n: number(field.maxLength) });
  if (is.rangeUnderflow) return say("Enter {n} or more.", { n: bound(field, field.min) });
  if (is.rangeOverflow) return say("Enter {n} or less.", { n: bound(field, field.max) });
  if (is.stepMismatch)
    return ["", "1"].includes(field.step)
      ? say("Enter a whole number.")
      : say("Enter a multiple of {n}.", { n: number(field.step) });
  return field.title || field.validationMessage;
}

const bound = (field, limit) => (field.type === "number" ? number(limit) : limit);
