/** Shorter words of the list do not count: any text can be made of them. */
const WORD_CHARS_MIN = 4
const WORDS_MAX = 2

export type CommonPasswords = ReadonlySet<string>

let loading: Promise<CommonPasswords> | undefined

/** 49,000 passwords that were seen most often in leaks. Read when somebody chooses a password, not before. */
export const loadCommonPasswords = (): Promise<CommonPasswords> =>
  (loading ??= import('@zxcvbn-ts/language-common/src/passwords.json').then(({ default: list }) => new Set(list)))

/** One of them, or two of them with digits around: `dragon1987monkey`. In lower case. */
export const isCommon = (text: string, common: CommonPasswords): boolean => common.has(text) || wordsIn(text, common) <= WORDS_MAX

/** The fewest words of the list that the text is made of, digits left out; infinite for any other text. */
function wordsIn(text: string, common: CommonPasswords): number {
  const parts = text.split(/\d+/).filter(Boolean)
  return parts.length === 0 ? Number.POSITIVE_INFINITY : parts.reduce((sum, part) => sum + fewestWords(part, common), 0)
}

function fewestWords(text: string, common: CommonPasswords): number {
  const fewest = [0]
  for (let end = 1; end <= text.length; end++) {
    fewest[end] = Number.POSITIVE_INFINITY
    for (let start = 0; start <= end - WORD_CHARS_MIN; start++) {
      if (fewest[start]! < fewest[end]! && common.has(text.slice(start, end))) fewest[end] = fewest[start]! + 1
    }
  }
  return fewest[text.length]!
}
