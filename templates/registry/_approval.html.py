BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Approval') X XXXXXXXXXXXXXX
  BBBB BBBBBBBBBBBBBBBBBB
    BB BBBBBBB BB BBBBBBXXXXXXXX XXXXXXXXXXXXX XXXXXXXX XXBBBBB
    BB BBBBBBB BB BBBBBB
      XX XXXXXXXXXXXX XXXXXXX
        BB BBBBBBBBBBBBBBBBBBBBBBB
           gettext(u'This model requires approval: aliases can point to this version once it is approved.') 
        BBBB
           gettext(u'Ask a team admin to review this version. An approved version is protected.') 
        BBBBB
      XXXX
    BBBB BBBBBBB BB BBBBBBBBBBB
      XX XXXXXXXXXXXXXX X FFFXXXX
    BBBB BBBB
      XX XXXXXXXXXXXXXX X FFFXXXX
    BBBBB
    BB BBBBBBXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBB
    XXX XXXXXXXXXXXXX XXXXXXX
      BBB BBBBB BB BBBBBBBBBBBBBB
        XXXX
          XXXXXXX XXXXXXXBB BBBBBBBBBBBXXXXXXXXXBBBBXXXXXXBBBBBXXFFFFFFFFFFXXXXXXXXX
          BB BBBBBBBBBBBBXX XXXXXXXXXXXXXXFFFFFFFFFFXXXXBBBBB
        XXXXX
      BBBBBB
    XXXXX
    XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
      BBBBBBBBBB
      BB BBBBBBBBB BBB BBBBBBBBBBBBBB BBB BBB BBBBBBBBBBBBBBBBBBBBBBB BB BBBBBBBBB BBB BBBBBBBBBBBBBBBBB BBB BBB BBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXXX
                XXXXXXXXX
                XXXXXXXXXXXXXXXXXXX
                XXXXXXXXXX pgettext(u'button', u'Acknowledge') X
                XXXXXXXXXXXXXX gettext(u'Loading these files can run any code with the rights of whoever loads them. Do you trust their author?') XX
           gettext(u'Acknowledge files that are not safe') 
        XXXXXXXXX
      BBBBB
      BB BBBBBBBBB BBB BBBBBBB BB BBBBBB BB BBBBBBBBB BBB BBBBBBB BB BBBBBBBBBB
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXXXXXXXXXX
               XXXXXXXXXXXXX gettext(u'Note for the approver') X
               XXXXXXXXXXXX gettext(u'Note for the approver') XX
        XXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Request approval') XXXXXXXXX
        XXXXXX
      BBBB BBBBBBB BB BBBBBBBBBBB
        BB BBBBBBBBBBB BBB BBB BBBBBBB
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXX pgettext(u'placeholder, why', u'Reason') X
                 XXXXXXXXXXXX pgettext(u'spoken label, why', u'Reason') XX
          XXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Approve') XXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Reject') XXXXXXXXX
          XXXXXX
        BBBB BBBBBBB
          XX XXXXXXXXXXXX XXXXXXX gettext(u'Somebody else must decide about your request.') XXXX
          XXXXX
            XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Withdraw') XXXXXXXXX
          XXXXXX
        BBBBB
      BBBB BBBBBBB BB BBBBBBBBBB BBB BBBBBBBBBBB
        XXXXX
          XXXXXXX XXXXXXXXXX XXXXXXX
                  XXXXXXXXX
                  XXXXXXXXXXXXXX
                  XXXXXXXXXX pgettext(u'button', u'Revoke') X
                  XXXXXXXXXXXXXX gettext(u'Revoke the approval of version %(n)s?') 
                    SSSSSS SSS SSSSSSSS SS SSSSSSS SSSSSS
                  XX pgettext(u'button', u'Revoke approval') XXXXXXXXX
        XXXXXX
      BBBBB
    XXXXXXX
  BBBBBBB
XXXXXXXXXX
