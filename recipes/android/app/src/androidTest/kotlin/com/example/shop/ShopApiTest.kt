package com.example.shop

import androidx.test.ext.junit.runners.AndroidJUnit4
import androidx.test.platform.app.InstrumentationRegistry
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Before
import org.junit.Test
import org.junit.runner.RunWith

/** Runs on a device or an emulator. The same flow runs on the JVM in `jvm/NetworkTest.kt`. */
@RunWith(AndroidJUnit4::class)
class ShopApiTest {
    private lateinit var sim: EntrupySim
    private lateinit var api: ShopApi

    @Before
    fun makeNamespace() {
        val given = InstrumentationRegistry.getArguments().getString("entrupySimUrl")
        sim = EntrupySim.make(given ?: "http://10.0.2.2:8642")
        api = ShopApi(sim.address, sim.headers)
        api.logIn(sim.signedRequest("android-user"))
    }

    @After
    fun deleteNamespace() = sim.close()

    @Test
    fun aLateResultArrivesOnceTheClockHasMoved() {
        sim.outcome("unknown", customerItemId = "late-*", after = "3h")
        val item = api.capture("Nike", "Sneakers", "late-1") { Pictures.png }
        sim.advance("3h")
        val result = api.result(item.getString("entrupy_id")).getJSONObject("status").getJSONObject("result")
        assertEquals("unknown", result.getString("id"))
    }
}
