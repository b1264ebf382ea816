/** The words of a text, for lists of short cases without white space: several fit on a line. */
export const words = (text: string): string[] => text.trim().split(/\s+/)
