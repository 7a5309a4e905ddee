// A type that is known by its name alone, for peers of DDS that read and write bytes.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <fastdds/dds/topic/TopicDataType.hpp>

using namespace eprosima::fastdds::dds;
using Bytes = std::vector<char>;

// Its samples are the bytes on the wire.
class Raw : public TopicDataType
{
public:
    Raw(const std::string& name, uint32_t largest)
    {
        setName(name.c_str());
        m_typeSize = largest;
        m_isGetKeyDefined = false;
    }

    bool serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) override
    {
        const Bytes& bytes = *static_cast<Bytes*>(data);
        payload->encapsulation = CDR_LE;
        payload->length = static_cast<uint32_t>(bytes.size());
        std::memcpy(payload->data, bytes.data(), bytes.size());
        return true;
    }

    bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) override
    {
        static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void* data) override
    {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }

    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }
};
