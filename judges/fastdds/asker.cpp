// Asks services as `rmw_fastrtps` does: a question names its asker's reader beside its data, and an
// answer is known by writer and number of the question that it names.
//
//     asker DOMAIN

#include <atomic>
#include <chrono>
#include <cstring>
#include <iostream>
#include <thread>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include "raw.hpp"

using eprosima::fastrtps::rtps::WriteParams;

struct Service
{
    DataWriter* asks;
    DataReader* answers;
};

void wait(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

bool matched(Service& service)
{
    PublicationMatchedStatus readers;
    SubscriptionMatchedStatus writers;
    service.asks->get_publication_matched_status(readers);
    service.answers->get_subscription_matched_status(writers);
    return readers.current_count > 0 && writers.current_count > 0;
}

// Answered by success (1) or refusal (0); -1 without an answer.
int ask(Service& service, Bytes question)
{
    WriteParams parameters;
    parameters.related_sample_identity().writer_guid() = service.answers->guid();
    service.asks->write(&question, parameters);
    const auto number = parameters.sample_identity().sequence_number();
    for (int i = 0; i < 12000; ++i)
    {
        Bytes answer;
        SampleInfo info;
        while (service.answers->take_next_sample(&answer, &info) == ReturnCode_t::RETCODE_OK)
        {
            const auto& of = info.related_sample_identity;
            const bool ours = of.writer_guid() == service.answers->guid() ||
                              of.writer_guid() == service.asks->guid();
            if (info.valid_data && ours && of.sequence_number() == number && answer.size() > 8)
                return answer[4];
        }
        wait(50);
    }
    return -1;
}

int main(int, char** arguments)
{
    DomainParticipantQos qos;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    auto* participant =
        DomainParticipantFactory::get_instance()->create_participant(std::stoi(arguments[1]), qos);
    auto* subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    auto* publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
    auto service = [&](const std::string& name, const std::string& type) {
        for (const char* part : {"_Request_", "_Response_"})
            TypeSupport(new Raw(type + part, 1024)).register_type(participant);
        DataWriterQos writing = DATAWRITER_QOS_DEFAULT;
        DataReaderQos reading = DATAREADER_QOS_DEFAULT;
        writing.reliability().kind = reading.reliability().kind = RELIABLE_RELIABILITY_QOS;
        auto* asked = participant->create_topic(
            "rq/simulation/" + name + "Request", type + "_Request_", TOPIC_QOS_DEFAULT);
        auto* answered = participant->create_topic(
            "rr/simulation/" + name + "Reply", type + "_Response_", TOPIC_QOS_DEFAULT);
        return Service{publisher->create_datawriter(asked, writing),
                       subscriber->create_datareader(answered, reading)};
    };
    const std::string trigger = "std_srvs::srv::dds_::Trigger";
    Service pause = service("pause", trigger), step = service("step", trigger);
    Service resume = service("resume", trigger), reset = service("reset", trigger);
    Service sea = service("set_sea_state", "seatrial_interfaces::srv::dds_::SetSeaState");
    std::cout << "ready" << std::endl;
    for (int i = 0; i < 1200 && !(matched(pause) && matched(step) && matched(resume) &&
                                  matched(reset) && matched(sea)); ++i)
        wait(50);

    const Bytes nothing = {0, 1, 0, 0, 0};
    auto waves = [](double height, double period) {
        Bytes bytes(20);
        bytes[1] = 1;
        std::memcpy(&bytes[4], &height, 8);
        std::memcpy(&bytes[12], &period, 8);
        return bytes;
    };
    std::cout << "{\"pause\": " << ask(pause, nothing);
    std::cout << ", \"step\": " << ask(step, nothing) << ", \"again\": " << ask(step, nothing);
    std::cout << ", \"resume\": " << ask(resume, nothing) << ", \"reset\": " << ask(reset, nothing);
    std::cout << ", \"absurd\": " << ask(sea, waves(-1.0, 4.0));
    std::cout << ", \"sea\": " << ask(sea, waves(0.3, 4.0)) << "}" << std::endl;
    participant->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant);
}
