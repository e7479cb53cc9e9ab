BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXX XXXXX X XX
    XXXXXXXX XXXXXXXXXXXX XXXXXXXX XX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Send test') XXXXXXXXX
        BB BBBBBBBBBBBBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Enable') XXXXXXXXX
        BBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Disable') XXXXXXXXX
        BBBBB
      XXXXXXX
    XXXXXXXXX
  XXXXXXXXX
  BB BBBBBBBBBBBBBBBBBBBBB BB BBBBBBBBBBBBBBB
    XXXXXXX XXXXXXBB BBBBBBBBBBBBBBBBBBBXXXBBBBXXXXBBBBBXX
      FFFFFFFFFF
      BB BBBBBBBBBBBBBBBBBBB
         gettext(u'Fix the address, then enable the channel. Pending notifications are sent.') 
      BBBB
         gettext(u'Muster tries again, and disables the channel after three days without success.') 
      BBBBB
    XXXXXXXXX
  BBBBB
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Delivery log') X XXXXXXXXXX
        BB BBBBBBBBBB
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                XXXX
                  XXXX pgettext(u'column', u'Message') XXXXX
                  XXXX pgettext(u'column', u'State') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Tries') XXXXX
                  XXXX pgettext(u'column', u'Time') XXXXX
                  XXXX
                    XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
                  XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB B BB BBBBBBBBBB
                  XXXX
                    XXX XXXXXXXXXXXXX
                      FFFFFFFFFF
                      BB BBBBBBBBBXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXBBBBB
                    XXXXX
                    XXX XXXXXXXXXXXXXXX
                      XXXXXXXX XXXXXXXXXXXXX
                               XXXXXXXBB BBBBBBB BB BBBBBBBBB BBB BBBBBBBXXXXXXXXBBBBBBBBBX XX
                    XXXXX
                    XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Tries') XX
                      
                      BB BBBBBBBBXXXXX XXXXXXXXXXXXXXX XXXXXXXBBBBB
                    XXXXX
                    XXX XXXXXXXXXXXX XXXXXXXXFFFXXXXX
                    XXX XXXXXXXXXXXX
                      BB BBBBBBB BB BBBBBBBBB
                        XXXXX XXXXXXXXXXXXXX
                          BBBBBBBBBB
                          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
                          XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                                  XXXXXXXXX
                                  XXXXXXXXXXXXXXXXXX pgettext(u'button', u'Redeliver') XXXXXXXXX
                        XXXXXXX
                      BBBBB
                    XXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        BBBB
          XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'Nothing sent yet. Send a test to see whether it works.') XXXX
        BBBBB
      XXXXXXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Settings') XX
        XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'New address') X
                   XXXXXX gettext(u'Leave empty to keep the address.') XX
            XXXXXX XXXXXXXXXX
                   XXXXXXXXXX
                   XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
        XXXXXXX
      XXXXXXXXXX
      BB BBBBBBBBBBBB BB BBBBBBBBB
        XXXXXXXX XXXXXXX gettext(u'Check the signature') XX
          XX XXXXXXXXXXXX XXXXXXX
             gettext(u'Muster-Signature is t=TIME,v1=HEX: the HMAC-SHA256 of TIME, a dot and the body, under the signing key. Refuse old times. A message can arrive twice with the same Idempotency-Key.') 
              SSSSSSSSSSSSSSSS SS SSSSSSSSSSSSSS SSS SSSSSSSSSSS SS SSSSS S SSS SSS SSS SSSSS SSSSS SSS SSSSSSS SSSS
              SSSSSS SSS SSSSSS S SSSSSSS SSS SSSSSS SSSSS SSSS SSS SSSS SSSSSSSSSSSSSSSS
            
          XXXX
        XXXXXXXXXX
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Delete permanently') XX
        XXXXX XXXXXXXXXXXXXX XXXXXX
              XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Delete %(n)s with its log?') SSSSSS SSSSS SSSS SSS SSSSX
              XXXXXXXXXX pgettext(u'button', u'Delete channel') XX
          BBBBBBBBBB
          XXX gettext(u'Pending notifications are not sent.') XXXX
          XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Delete channel') XXXXXXXXX
        XXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
        XXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX XXXX X XX
      XXXXXXXXXX
    XXXXXX
  XXXXXX
BBBBBBBB
