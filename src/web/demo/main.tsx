import { mount } from '../kit/mount.tsx'
import { DemoPage } from './demo.tsx'

mount(<DemoPage />)
