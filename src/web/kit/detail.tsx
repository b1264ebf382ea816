import { useCommon } from '../shared/language.ts'

/** A technical detail as the service words it: English in every language, and marked as such. */
export function Detail({ text }: { text: string }) {
  const { inEnglish } = useCommon()
  return (
    <>
      {inEnglish} <span lang="en">{text}</span>
    </>
  )
}
