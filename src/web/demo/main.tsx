import { mount } from '../kit/mount.tsx'
import { Club } from './club.tsx'
import { DemoPage } from './demo.tsx'

const query = new URLSearchParams(location.search)

mount(query.has('club') || query.has('iss') ? <Club /> : <DemoPage />)
